"""Questions and passages of our own that measure an embedding model: what its cosines are worth in each language.

Each row: a question and the passage that answers it in Chinese, the same in English. Every other passage is about
something else.
"""

PAIRS = (
    (
        "水泵什么时候开始工作？",
        "清晨六点水泵自动启动，抽满水箱后停机。",
        "When does the pump begin to work?",
        "At six in the morning the pump switches itself on and stops once the tank is full.",
    ),
    (
        "怎么申请年假？",
        "员工须提前两周在人事系统里提交休假申请，由主管批准。",
        "How do I apply for annual leave?",
        "Employees hand in a request for holidays in the staff system two weeks ahead; the manager approves it.",
    ),
    (
        "数据库连接数的上限是多少？",
        "服务器最多同时接受一百个客户端连接，超过的请求会排队。",
        "What is the limit of database connections?",
        "The server accepts at most one hundred clients at a time; further requests wait in a queue.",
    ),
    (
        "面包要烤多久？",
        "把面团放进预热的烤箱，用二百二十度烘烤三十五分钟。",
        "How long does the bread bake?",
        "Put the dough in the hot oven and leave it there for thirty-five minutes at 220 degrees.",
    ),
    (
        "谁写了这部歌剧？",
        "作曲家在病中完成了总谱，三个月后作品在巴黎首演。",
        "Who wrote the opera?",
        "The composer finished the score while he was ill, and it was first performed in Paris three months later.",
    ),
    (
        "药物有哪些副作用？",
        "服药后少数病人出现头痛和恶心，停药后症状消失。",
        "What side effects does the drug have?",
        "A few patients had headaches and nausea after taking the medicine; the symptoms went when they stopped.",
    ),
    (
        "违约金怎么计算？",
        "逾期付款的一方每天按欠款的万分之五支付赔偿。",
        "How is the contract penalty calculated?",
        "A party that pays late owes compensation of 0.05 per cent of the sum for each day.",
    ),
    (
        "这座桥有多长？",
        "大桥全长一千二百米，横跨两岸，主跨四百米。",
        "How long is the bridge?",
        "The crossing measures 1,200 metres from bank to bank, with a main span of 400 metres.",
    ),
    (
        "如何备份文件？",
        "每天夜里程序把所有文档复制到另一台机器，保留三十天。",
        "How are files backed up?",
        "Every night a program copies all documents to another machine and keeps them for thirty days.",
    ),
    (
        "火山为什么喷发？",
        "岩浆中的气体压力不断升高，最终冲破地壳。",
        "Why do volcanoes erupt?",
        "Gas in the molten rock builds up pressure until it breaks through the crust.",
    ),
    (
        "比赛的冠军是谁？",
        "决赛中主队以三比一取胜，捧起了奖杯。",
        "Who won the tournament?",
        "In the final the home team won three to one and lifted the cup.",
    ),
    (
        "密码忘了怎么办？",
        "点击登录页上的链接，系统会把重置邮件发到你的邮箱。",
        "What do I do when I have forgotten my password?",
        "Follow the link on the sign-in page; a message to reset it is sent to your mailbox.",
    ),
    (
        "候鸟飞往哪里过冬？",
        "秋天，燕子成群飞到温暖的南方，春天再回来筑巢。",
        "Where do migrating birds spend the winter?",
        "In autumn the swallows fly to the warm south in flocks and come back in spring to nest.",
    ),
    (
        "公司去年赚了多少钱？",
        "上一年度净利润为八千万元，比前一年增长一成二。",
        "How much did the company earn last year?",
        "Net profit of the previous financial year was 80 million, up twelve per cent.",
    ),
    (
        "这个函数返回什么？",
        "若找到键，则返回对应的值，否则抛出异常。",
        "What does the function return?",
        "It gives the value that belongs to the key, or raises an exception where there is none.",
    ),
    (
        "小麦什么时候播种？",
        "农民在十月上旬把种子撒进地里，来年六月收割。",
        "When is wheat sown?",
        "Farmers put the seed in the ground in early October and harvest it the next June.",
    ),
    (
        "地铁几点停运？",
        "末班车于晚上十一点半从终点站发出。",
        "When does the underground stop running?",
        "The last train leaves the terminus at half past eleven at night.",
    ),
    (
        "病毒是怎样传播的？",
        "它通过咳嗽产生的飞沫在人与人之间扩散。",
        "How does the virus spread?",
        "It passes from one person to another in droplets when people cough.",
    ),
    (
        "这幅画藏在哪里？",
        "名作现在挂在国家美术馆二楼的东厅。",
        "Where is the painting kept?",
        "The masterpiece now hangs in the east room on the second floor of the national gallery.",
    ),
    (
        "设备坏了找谁修？",
        "出现故障时请拨打售后电话，工程师会在两天内上门。",
        "Who repairs the device when it breaks?",
        "In case of a fault call customer service; an engineer visits within two days.",
    ),
    (
        "议会什么时候通过了这项法律？",
        "一九九五年春天，法案以多数票获得批准。",
        "When did parliament pass the law?",
        "The bill was adopted by a majority in the spring of 1995.",
    ),
    (
        "电池能用多久？",
        "充满电后手机可以连续通话约二十小时。",
        "How long does the battery last?",
        "Fully charged, the phone allows about twenty hours of talk.",
    ),
    (
        "学生怎样报名考试？",
        "考生须在三月底以前在网上填写表格并缴费。",
        "How do students register for the exam?",
        "Candidates fill in the form online and pay the fee before the end of March.",
    ),
    (
        "为什么要戴安全帽？",
        "工地上常有东西从高处掉落，硬壳能保护头部。",
        "Why must helmets be worn?",
        "Things often fall from above on a building site, and a hard shell protects the head.",
    ),
)
